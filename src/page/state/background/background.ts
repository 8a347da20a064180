import type { BackgroundCommand } from '../../../../protocol/events/background-command.ts';

/** Ended commands stay shown until others replace them, or the person removes them. */
const SHOWN_ENDED = 5;

/** The background commands after one has started, printed something or ended. */
export function withCommand(
  commands: readonly BackgroundCommand[],
  changed: BackgroundCommand,
): readonly BackgroundCommand[] {
  const isKnown = commands.some(({ command_id }) => command_id === changed.command_id);
  const all = isKnown
    ? commands.map((one) => (one.command_id === changed.command_id ? changed : one))
    : [...commands, changed];
  const ended = all.filter(({ state }) => state === 'ended');
  const tooMany = new Set(ended.slice(0, Math.max(0, ended.length - SHOWN_ENDED)));
  return all.filter((one) => !tooMany.has(one));
}

/** Without those that have ended. */
export const stillRunning = (commands: readonly BackgroundCommand[]): readonly BackgroundCommand[] =>
  commands.filter(({ state }) => state === 'running');
