import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { MODES, type Mode } from '../../../protocol/events/modes.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { CommandCaller } from './command.ts';

/** `/mode`: says what runs without asking, or changes it. The answer goes to `say`. */
export const createModeCommand =
  (say: (to: Workstream, text: string) => Promise<void>) =>
  async (argument: string, workstream: Workstream, { call }: CommandCaller): Promise<void> => {
    const { data } = workstream;
    if (argument !== '') await call.perform('workstream.update', { wsId: data.wsId, mode: toMode(argument) });
    await say(workstream, `Mode ${data.mode()}: ${WORDS[data.mode()]}`);
  };

function toMode(argument: string): Mode {
  const word = argument.toLowerCase().replaceAll('-', '_');
  const mode = MODES.find((one) => one === (word === 'plan' ? 'read_only' : word));
  if (mode === undefined) throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('mode')}`);
  return mode;
}

const WORDS: Record<Mode, string> = {
  ask: 'what only reads this folder runs without asking.',
  read_only: 'what only reads this folder runs without asking, and changes are blocked.',
  edits: 'changes, builds and tests in this folder run without asking, too.',
  auto: 'changes in this folder run without asking, and so does what the judge approves.',
  full: 'everything runs without asking that no rule denies.',
};
