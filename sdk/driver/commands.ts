// What a driver of `gatehouse phone conformance` does with each command: one call of the SDK. docs/device-protocol.md has the commands.
import { type Device, type DeviceDescription, DeviceError, NoAnswerError } from '../device.ts';

export interface Command {
  readonly id: number;
  readonly do: string;
  readonly [field: string]: unknown;
}

/** Answers one command: `{id, ok: true, value}` or `{id, ok: false, error, kind?}`. */
export async function answerCommand(device: Device, description: DeviceDescription, command: Command): Promise<object> {
  const { id } = command;
  try {
    return { id, ok: true, value: (await runCommand(device, description, command)) ?? null };
  } catch (error) {
    if (error instanceof DeviceError) return { id, ok: false, error: error.error, kind: error.kind };
    return { id, ok: false, error: error instanceof NoAnswerError ? 'no_answer' : String(error) };
  }
}

function runCommand(device: Device, description: DeviceDescription, command: Command): Promise<unknown> {
  const text = (name: string): string => String(command[name]);
  switch (command.do) {
    case 'redeem':
      return device.redeemEnrollment(text('token'), description);
    case 'pin':
      return device.verifyPin(text('pin'));
    case 'enroll':
      return device.enroll();
    case 'resume':
      return device.resume().then(viewOf);
    case 'state':
      return device.state().then(viewOf);
    case 'self':
      return device.self();
    case 'list':
      return device.listApprovals();
    case 'approve':
      return approvalOf(device, text('approval')).then((approval) => device.approve(approval, text('number')));
    case 'deny':
      return approvalOf(device, text('approval')).then((approval) => device.deny(approval, 'mistake'));
    case 'rotate':
      return device.rotateKeys();
    default:
      throw new Error(`expected a command, found ${command.do}`);
  }
}

const viewOf = ({ status, account }: Awaited<ReturnType<Device['state']>>) => ({ status, device_id: account?.deviceId });

async function approvalOf(device: Device, id: string) {
  const found = (await device.listApprovals()).find((approval) => approval.id === id);
  if (found === undefined) throw new Error(`expected the approval ${id}, found none`);
  return found;
}
