import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { QueuedMessage } from '../../../protocol/queue/queue-methods.ts';
import type { Paint } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { untilAnswered } from '../until-answered.ts';

/** The messages that wait until the run in progress has ended. */
export interface ChatQueue {
  readonly waiting: readonly QueuedMessage[];
  /** Reads it from the daemon; events change it afterwards. */
  read(): void;
  /** `place`: where the message stands, from 1. */
  edit(place: number, message: string): Promise<void>;
  move(place: number, by: number): Promise<void>;
  steer(place: number): Promise<void>;
  /** Returns its text, with the names of its files. */
  remove(place: number): Promise<string>;
  close(): void;
}

interface QueueDeps {
  client: Pick<GatewayClient, 'call' | 'on'>;
  wsId: string;
  newKey(): string;
  onChange(): void;
}

export function followQueue({ client, wsId, newKey, onChange }: QueueDeps): ChatQueue {
  let waiting: readonly QueuedMessage[] = [];
  const show = (messages: readonly QueuedMessage[]) => {
    waiting = messages;
    onChange();
  };
  const close = client.on('queue.changed', (changed) => {
    if (changed.wsId === wsId) show(changed.messages);
  });
  const get = (place: number): QueuedMessage => {
    const found = waiting[place - 1];
    if (!found) throw new Error(`No message ${place} waits. /queue lists the messages that wait.`);
    return found;
  };
  return {
    get waiting() {
      return waiting;
    },
    read() {
      untilAnswered(() => client.call('queue.list', { wsId })).then(
        ({ messages }) => show(messages),
        () => undefined, // the connection was closed
      );
    },
    async edit(place, message) {
      const { runId } = get(place);
      await untilAnswered(() => client.call('queue.edit', { wsId, runId, message }));
    },
    async move(place, by) {
      const { runId } = get(place);
      await untilAnswered(() => client.call('queue.move', { wsId, runId, to: Math.max(0, place - 1 + by) }));
    },
    async steer(place) {
      const { runId } = get(place);
      await untilAnswered(() => client.call('queue.steer', { wsId, runId }));
    },
    async remove(place) {
      const message = get(place);
      const { runId } = message;
      const params = { wsId, runId, idempotencyKey: newKey() }; // without a key, a repeat would find nothing to remove
      const { removed } = await untilAnswered(() => client.call('queue.remove', params));
      if (!removed) throw new Error('That message no longer waits: it was sent or taken back.');
      return toQueuedText(message);
    },
    close,
  };
}

/** A waiting message with the names of its files. */
export const toQueuedText = ({ message, attachments = [] }: Pick<QueuedMessage, 'message' | 'attachments'>): string =>
  [message, ...attachments.map(({ filename }) => `+ ${filename}`)].filter((part) => part !== '').join(' ');

const SHOWN = 5;

/** The waiting messages with their numbers, one row each. */
export function toQueueLines(waiting: readonly QueuedMessage[], paint: Paint): string[] {
  const rows = waiting.slice(0, SHOWN).map((message, index) => paint('dim', toQueueLine(message, index + 1)));
  const left = waiting.length - rows.length;
  const more = left > 0 ? [paint('dim', `  … and ${left} more: /queue`)] : [];
  return [...toHeldLines(waiting).map((line) => paint('yellow', line)), ...rows, ...more];
}

function toHeldLines([first]: readonly QueuedMessage[]): string[] {
  if (first?.held === undefined) return [];
  return [`! Not sent: ${toSafeText(first.held).replaceAll('\n', ' ')}`, 'Enter sends the waiting messages now.'];
}

function toQueueLine({ message, steer, attachments = [] }: QueuedMessage, place: number): string {
  const text = toSafeText(toQueuedText({ message, attachments })).replaceAll('\n', ' ');
  return `${steer ? '↳' : '◷'} ${place} ${text}${steer ? ' (before the next step)' : ''}`;
}

const USAGE = 'Usage: /queue, /queue edit N MESSAGE, /queue move N up, /queue move N down, /queue remove N';

interface CommandDeps {
  queue: ChatQueue;
  send(message: string, how: { steer: true }): Promise<unknown>;
  print(lines: readonly string[]): void;
}

/** Runs `/queue …` and `/steer`. Undefined for any other line. */
export function runQueueCommand(line: string, deps: CommandDeps): Promise<unknown> | undefined {
  const [, command, rest = ''] = /^\/(queue|steer)(?:\s+(\S[\s\S]*)?)?$/.exec(line) ?? [];
  if (command === 'queue') return change(rest.trim(), deps);
  return command === 'steer' && rest.trim() !== '' ? steer(rest.trim(), deps) : undefined;
}

/** A number means a waiting message. */
function steer(argument: string, { queue, send }: CommandDeps): Promise<unknown> {
  const place = /^\d{1,2}$/.test(argument) ? Number(argument) : 0;
  return queue.waiting[place - 1] ? queue.steer(place) : send(argument, { steer: true });
}

async function change(argument: string, { queue, print }: CommandDeps): Promise<void> {
  const [, verb, place = '', text = ''] = /^(edit|move|remove)\s+(\d{1,2})(?:\s+(\S[\s\S]*)?)?$/.exec(argument) ?? [];
  if (argument === '') return print(listOf(queue.waiting));
  switch (`${verb} ${verb === 'edit' && text !== '' ? 'MESSAGE' : text}`) {
    case 'edit MESSAGE':
      return queue.edit(Number(place), text);
    case 'move up':
      return queue.move(Number(place), -1);
    case 'move down':
      return queue.move(Number(place), 1);
    case 'remove ':
      return print([`(taken back) ${toSafeText(await queue.remove(Number(place)))}`]);
    default:
      throw new Error(USAGE);
  }
}

const listOf = (waiting: readonly QueuedMessage[]): string[] =>
  waiting.length === 0
    ? ['(no message waits)']
    : [...toHeldLines(waiting), ...waiting.map((message, index) => toQueueLine(message, index + 1))];
