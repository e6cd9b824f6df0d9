// Web Push: asked for by a tap, then kept up to date at every visit, because browsers change subscriptions as they like. Several
// persons of a browser share its one subscription.
import type { Device } from '../../../sdk/device.ts';
import { fromBase64 } from '../../../sdk/platform.ts';
import { say, texts } from './context.ts';
import { h } from './dom.ts';

const canBePushed = (): boolean => 'PushManager' in globalThis && 'Notification' in globalThis && 'serviceWorker' in navigator;

/** Whether this phone is told of what waits; with a button while the person has neither allowed nor forbidden it. */
export function notificationsState(phone: Device): readonly HTMLElement[] {
  if (!canBePushed()) return [];
  const state = h('li', {});
  const tell = (): void => {
    state.textContent = Notification.permission === 'granted' ? texts.notificationsOn : texts.notificationsOff;
  };
  const ask = async (): Promise<void> => {
    const permission = await Notification.requestPermission();
    if (permission !== 'default') button.remove();
    tell();
    await keepSubscribed(phone);
    say(permission === 'granted' ? texts.notified : '');
  };
  const button = h('button', { class: 'plain', click: () => void ask() }, texts.notify);
  tell();
  return Notification.permission === 'default' ? [state, h('li', { class: 'act' }, button)] : [state];
}

/** Tells the server where this browser is pushed to, when it allows that and the server does not know. What fails is tried at the next visit. */
export async function keepSubscribed(phone: Device): Promise<void> {
  if (!canBePushed() || Notification.permission !== 'granted') return;
  try {
    const { pushManager } = await navigator.serviceWorker.ready;
    const subscription = await subscribe(pushManager, await phone.pushKey());
    const { deviceId = '' } = (await phone.state()).account ?? {};
    const told = `pushed:${deviceId}`;
    if (localStorage.getItem(told) === subscription.endpoint && (await phone.self())['push_provider'] === 'web') return;
    await phone.setPushToken('web', JSON.stringify(subscription));
    localStorage.setItem(told, subscription.endpoint);
  } catch {
    // The list is asked for while somebody looks, with pushes or without.
  }
}

// A subscription made with another key, as before a tenant was restored, hears nothing: it gives way.
async function subscribe(pushManager: PushManager, key: string): Promise<PushSubscription> {
  const padded = key
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .padEnd(Math.ceil(key.length / 4) * 4, '=');
  const options = { userVisibleOnly: true, applicationServerKey: new Uint8Array(fromBase64(padded)) };
  try {
    return await pushManager.subscribe(options);
  } catch (error) {
    const old = await pushManager.getSubscription();
    if (old === null) throw error;
    await old.unsubscribe();
    return pushManager.subscribe(options);
  }
}
