import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { BackgroundCommand } from '../../../protocol/events/background-command.ts';
import { commandName, endWords, spanWords } from '../../../protocol/text/background-words.ts';
import { toVisibleText } from '../../../protocol/text/visible-text.ts';
import type { BackgroundCommands } from '../../agent/background/background-commands.ts';
import type { StoredBackground } from '../background/background-records.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { Command } from './command.ts';

interface BackgroundCommandDeps {
  background: {
    commands: Pick<BackgroundCommands, 'find'>;
    records: Pick<StoredBackground, 'list'>;
  };
  clock: { now(): number };
}

/** The number or id that follows `end`; undefined: the command only shows. */
export const endedBy = (argument: string): string | undefined => /^end\s+(\S+)$/i.exec(argument)?.[1];

/** Ended commands in the list. */
const MOST_ENDED = 10;

/** `/background`: lists the background commands, shows the last output of one, or ends one. The answer goes to `say`. */
export const createBackgroundCommand =
  (
    { background, clock }: BackgroundCommandDeps,
    say: (to: Workstream, text: string) => Promise<void>,
  ): Command['run'] =>
  async (argument, workstream, by) => {
    const { wsId } = workstream.data;
    const stored = await background.records.list(wsId);
    const all = stored.map(({ state }) => background.commands.find(wsId, state.command_id)?.state ?? state);
    const ended = all.filter(({ state }) => state === 'ended').slice(-MOST_ENDED);
    const listed = all.filter((one) => one.state === 'running' || ended.includes(one));
    const toEnd = endedBy(argument);
    if (toEnd !== undefined) {
      const { command_id: commandId, command } = find(listed, toEnd);
      await by.call.perform('background.kill', { wsId, commandId });
      return say(workstream, `Ended: ${commandName(command)}`);
    }
    if (argument.includes(' ')) throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('background')}`);
    const nowMs = clock.now();
    const text = argument === '' ? toList(listed, nowMs) : toDetail(find(listed, argument), nowMs);
    return say(workstream, toVisibleText(text));
  };

/** By its number in the list, or by its id. */
function find(listed: readonly BackgroundCommand[], name: string): BackgroundCommand {
  const found = listed[Number(name) - 1] ?? listed.find(({ command_id: id }) => id === name);
  if (!found) throw new GatewayError('NOT_FOUND', `No background command is called ${name}. /background lists them.`);
  return found;
}

function toList(listed: readonly BackgroundCommand[], nowMs: number): string {
  if (listed.length === 0) return 'No command runs in the background.';
  const lines = listed.map((one, index) => `${index + 1}  ${toLine(one, nowMs)}`);
  return [...lines, '/background N shows the last output of one, /background end N ends it.'].join('\n');
}

function toLine(command: BackgroundCommand, nowMs: number): string {
  const span = spanWords((command.ended_ms ?? nowMs) - command.started_ms);
  const how = command.state === 'running' ? `running for ${span}` : `${endWords(command)}, after ${span}`;
  return `${commandName(command.command)}  (${how})`;
}

function toDetail(command: BackgroundCommand, nowMs: number): string {
  const { last_output: last, output_bytes: bytes } = command;
  const output = last === '' ? 'It has printed nothing.' : last.trimEnd();
  const rest = bytes > Buffer.byteLength(last) ? [`These are the last lines of ${bytes} bytes.`] : [];
  return [toLine(command, nowMs), output, ...rest].join('\n');
}
