import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DELETED } from '../../../src/gateway/store/deletion.ts';
import type { WireRequest } from '../../support/wires/wire-server.ts';
import { createPrefixWitness } from '../prefix-witness.ts';
import type { Reply } from '../simulate.ts';
import { type CutPlace, storedConversation } from '../stored-cuts.ts';
import { answerAsChild, isOf, ownNumber } from './child-replies.ts';

/** A child of a coordinator, as the servers see it. */
interface Child {
  number: number;
  /** The home of the machine on which it works. */
  dir: string;
  wsId: string | undefined;
  numbers: number;
  witness: ReturnType<typeof createPrefixWitness>;
  /** A text that occurs only in its latest answer; empty: there was none. */
  mark: string;
  /** How far its conversation was cut then. */
  place: CutPlace;
  /** Its daemon was ended since its latest request. */
  isInterrupted: boolean;
  /** Everything that it was told, and that it said. */
  readonly told: string[];
  readonly said: Set<string>;
  /** Its model has failed on purpose. */
  hasFailed: boolean;
}

/** The folder of a child, which its system prompt names in every request. */
const FOLDER = /headgate-sim-\w+\/child-(\d+)\b/;
export const folderOf = (number: number): string => `/child-${number}`;
export const nameOf = (number: number): string => `child-${number}`;

/** Ids in the arguments of calls. */
const ID_FIELDS = ['ws_id', 'child_ws_id'];

/** Answers the children of the conversation, and compares each request with the earlier ones of the same child. */
export function createChildren(violate: (what: string) => void) {
  const children = new Map<number, Child>();
  let asked = 0;
  let isEnding = false;
  let gate: PromiseWithResolvers<void> | undefined;
  const on = (dir: string): Child[] => [...children.values()].filter((child) => child.dir === dir);
  const get = (number: number): Child => {
    const found = children.get(number);
    if (!found) throw new Error(`no child ${number} was planned`);
    return found;
  };
  return {
    /** The number of a child that a coordinator may make, on the machine with this home. */
    plan(dir: string): number {
      const number = children.size + 1;
      children.set(number, newChild({ number, dir }, violate));
      return number;
    },
    /** A message that nobody else gets. */
    messageTo(number: number): string {
      const message = `message ${nextNumber(get(number))}`;
      get(number).told.push(message);
      return message;
    },
    /** Those planned on this machine that are stored, by their numbers. */
    stored: (dir: string): Child[] => on(dir).filter((child) => idOf(child) !== undefined),
    planned: (dir: string): number[] => on(dir).map(({ number }) => number),
    /** How many requests there were. */
    asked: (): number => asked,
    /** From now on, answers of children stay half sent until `open`. */
    hold(): void {
      gate ??= Promise.withResolvers();
    },
    open(): void {
      gate?.resolve();
      gate = undefined;
    },
    /** A daemon ends, and its successor begins with `work`: what its children were being answered may be lost. */
    async whileEnding(work: () => Promise<void>): Promise<void> {
      isEnding = true;
      for (const child of children.values()) child.isInterrupted = true;
      await work();
      isEnding = false;
    },
    /** The reply with the ids of the children that it names. */
    withIds: (reply: Reply): Reply => ({
      ...reply,
      answer: {
        ...reply.answer,
        ...(reply.answer?.calls && { calls: reply.answer.calls.map((call) => toIds(call, children)) }),
      },
    }),
    /** Undefined: it is no request of a child. */
    decide(request: WireRequest): Reply | undefined {
      const [, number] = FOLDER.exec(`${JSON.stringify(request.before)} ${JSON.stringify(request.messages[0])}`) ?? [];
      if (number === undefined) return undefined;
      asked += 1;
      const child = get(Number(number));
      const about = { child: child.number, messages: request.messages.length };
      const { answer, mark } = answerAsChild(about, () => nextNumber(child));
      const held = gate && { holdAfter: asked % 6, released: gate.promise };
      compare(child, request, { isUnanswered: !answer, violate });
      child.isInterrupted = isEnding;
      if (answer?.text !== undefined) child.said.add(answer.text);
      child.hasFailed ||= !answer;
      child.mark = mark;
      return answer ? { answer, ...held } : { fail: FAILURE };
    },
  };
}

function newChild({ number, dir }: Pick<Child, 'number' | 'dir'>, violate: (what: string) => void): Child {
  return {
    ...{ number, dir, wsId: undefined, numbers: 0, mark: '', isInterrupted: false },
    witness: createPrefixWitness((what) => violate(`child ${number}: ${what}`)),
    place: { cuts: 0, contextAfter: 0, newest: 0 },
    ...{ told: [], said: new Set<string>(), hasFailed: false },
  };
}

function nextNumber(child: Child): number {
  child.numbers += 1;
  return ownNumber(child.number, child.numbers);
}

/** Undefined: it is not stored. */
function idOf(child: Child): string | undefined {
  child.wsId ??= findNamed(child);
  return child.wsId;
}

/** Compares a request of a child with the earlier ones, and with its latest answer. */
function compare(
  child: Child,
  request: WireRequest,
  { isUnanswered, violate }: { isUnanswered: boolean; violate: (what: string) => void },
): void {
  const wsId = idOf(child);
  if (wsId === undefined) {
    violate(`child ${child.number} asks its model, but is not stored`);
    return;
  }
  const owns = ({ name }: { name: string }) => isOf(child.number, name);
  const stored = { ...storedConversation({ dir: child.dir, wsId }), owns };
  child.witness.watch(stored);
  const place = stored.place();
  const isCut = place.cuts !== child.place.cuts || place.contextAfter !== child.place.contextAfter;
  const isMissing = child.mark !== '' && !JSON.stringify(request.messages).includes(child.mark);
  if (isMissing && !isCut) {
    const isExcused = child.isInterrupted || hasStopped(child, wsId);
    if (!isExcused || stored.messages().some(({ json }) => json.includes(child.mark)))
      violate(`child ${child.number} is not sent its answer "${child.mark}" again`);
    void child.witness.interruptedBy(async () => undefined);
  }
  child.place = place;
  child.witness.requested(request, { isUnanswered });
  if (request.dropped > 0) violate(`child ${child.number} dropped ${request.dropped} thoughts`);
}

function toIds<T extends { arguments: object }>(call: T, children: ReadonlyMap<number, Child>): T {
  const toId = (value: unknown) => {
    const child = children.get(Number(/^child-(\d+)$/.exec(String(value))?.[1]));
    return (child && idOf(child)) ?? value;
  };
  const given = Object.entries(call.arguments).map(([name, value]) => {
    if (ID_FIELDS.includes(name)) return [name, toId(value)];
    return [name, name === 'ws_ids' && Array.isArray(value) ? value.map(toId) : value];
  });
  return { ...call, arguments: Object.fromEntries(given) };
}

const FAILURE = { status: 400, body: { error: { message: 'The request was rejected.', code: 400, status: 'X' } } };

/** Reads a database that a daemon has open. */
function read(dir: string, sql: string, ...parameters: string[]) {
  using db = new DatabaseSync(path.join(dir, 'headgate.db'), { readOnly: true });
  return db.prepare(sql).all(...parameters);
}

function findNamed({ dir, number }: Pick<Child, 'dir' | 'number'>): string | undefined {
  const [row] = read(dir, 'select ws_id from workstreams where generated_name = ?', nameOf(number));
  return row && String(row.ws_id);
}

/** Whether a run of it was cancelled, or has failed. */
const hasStopped = ({ dir }: Child, wsId: string): boolean =>
  read(dir, "select 1 from runs where ws_id = ? and status in ('cancelled', 'error') limit 1", wsId).length > 0;

/** Errors in the stored runs and messages of children. Only when nothing runs any more. */
export function findLedgerProblems(stored: readonly Child[]): string[] {
  return stored.flatMap((child) => {
    const { dir, number, wsId = '', told } = child;
    const made = read(dir, 'select ws_id, loaded from workstreams where generated_name = ?', nameOf(number));
    const isThere = made.some(({ loaded }) => loaded !== DELETED); // rows of deleted ones go later
    const runs = read(dir, 'select status, error from runs where ws_id = ?', wsId);
    const asked = askedOf(child);
    const bad = runs.filter(({ status }) => !isFine(String(status), child));
    const twice = told.filter((text) => asked.filter((content) => has(content, text)).length > 1);
    return [
      ...(made.length > 1 ? [`child ${number} was made ${made.length} times`] : []),
      ...bad.map(({ status, error }) => `a run of child ${number} ended with ${status}: ${error}`),
      ...twice.map((text) => `child ${number} was sent "${text}" twice`),
      ...(runs.length === 0 && isThere ? [`child ${number} has no run`] : []),
    ];
  });
}

/** The stored messages to a child, without the daemon's own. */
const askedOf = ({ dir, wsId = '' }: Child): string[] =>
  read(dir, 'select body_json from messages where ws_id = ?', wsId)
    .map(({ body_json }) => JSON.parse(String(body_json)))
    .filter(({ role, environment, summary }) => role === 'user' && !environment && !summary)
    .map(({ content }) => content);

const has = (content: string, text: string): boolean => new RegExp(`${text}(?!\\d)`).test(content);

const isFine = (status: string, { hasFailed }: Child): boolean =>
  ['ok', 'incomplete', 'cancelled'].includes(status) || (status === 'error' && hasFailed);

/** The answers of children that a coordinator got from waiting, by the ids of the children. */
export function answersIn(dir: string, wsId: string): { wsId: string; text: string }[] {
  const rows = read(dir, "select body_json from messages where ws_id = ? and body_json like '%\"wait_for_work%'", wsId);
  return rows.flatMap(({ body_json }) => {
    const { role, output } = JSON.parse(String(body_json));
    const waited = role === 'tool' ? readData(output) : undefined;
    return (waited?.workstreams ?? []).flatMap((one: { ws_id: string; messages: { text: string }[] }) =>
      one.messages.map(({ text }) => ({ wsId: one.ws_id, text })),
    );
  });
}

function readData(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // it was refused, or stopped
  }
}
