// Installing the page as an app, where the browser offers it. The offer comes when the browser likes, so it is kept.
import { texts } from './context.ts';
import { h } from './dom.ts';

interface InstallOffer extends Event {
  readonly prompt: () => Promise<unknown>;
}

let offer: InstallOffer | undefined;
const buttons = new Set<HTMLElement>();

addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault();
  offer = event as InstallOffer; // what this event is
  for (const button of buttons) button.hidden = false;
});

/** Hidden until the browser offers to install. */
export function installButton(): HTMLElement {
  const install = (): void => {
    void offer?.prompt();
    offer = undefined;
    button.hidden = true;
  };
  const button = h('button', { class: 'plain', click: install, hidden: offer === undefined }, texts.install);
  buttons.clear();
  buttons.add(button);
  return button;
}
