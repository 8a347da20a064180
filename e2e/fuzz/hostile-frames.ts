import fc from 'fast-check';
import type { Contract } from '../../protocol/contract.ts';
import { CONTRACTS, type MethodName } from '../../protocol/index.ts';
import { arbitraryOf, type Known } from './arbitrary-of-schema.ts';

/** One text to send. `method` is set if the text is a well-formed request for it. */
interface Sent {
  text: string;
  method?: MethodName;
}

export type Write = (id: string) => Sent;

/** Frames in one sample. */
export const FRAMES_PER_SAMPLE = 4;

/** A valid request, one with a wrong value, one with an extra property, and a mutilated text or no request at all. */
export function hostileFrames(known: Known): fc.Arbitrary<Write[]> {
  const requests = requestsOf(known);
  const noRequest = fc.oneof(fc.json({ maxDepth: 3 }), fc.string({ unit: 'binary' }), deep);
  return fc
    .record({
      request: fc.oneof(...requests),
      place,
      value: anything,
      name: fc.string({ maxLength: 12 }),
      tears: fc.array(tear, { minLength: 1, maxLength: 3 }),
      other: fc.option(noRequest, { freq: 3 }),
    })
    .map(({ request, place: where, value, name, tears, other }) => [
      asItShouldBe(request),
      withWrongValue(request, where, value),
      withMore(request, name, value),
      other === null ? torn(request, tears) : asIs(other),
    ]);
}

/** A valid request of every method. */
export const everyMethod = (known: Known): fc.Arbitrary<Write[]> =>
  fc.tuple(...requestsOf(known)).map((requests) => requests.map(asItShouldBe));

/** It would replace the process that is watched. e2e/restart/handover.test.ts calls it. */
const NOT_CALLED: string = 'daemon.restart';

const requestsOf = (known: Known): fc.Arbitrary<Request>[] =>
  Object.entries<Contract>(CONTRACTS)
    .filter(([name]) => name !== NOT_CALLED)
    .map(([name, { params }]) =>
      arbitraryOf(params(), known).map((value): Request => ({ method: name as MethodName, params: value })),
    );

interface Request {
  method: MethodName;
  params: unknown;
}

const asItShouldBe =
  ({ method, params }: Request): Write =>
  (id) => ({ text: JSON.stringify({ type: 'req', id, method, params }), method });

const asIs =
  (text: string): Write =>
  () => ({ text });

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('__proto__', 'constructor', '\ud800', '\u0000', -0, 1e308, Number.MAX_SAFE_INTEGER + 2, '../../x'),
);
const deep = fc.integer({ min: 30, max: 5_000 }).map((levels) => `${'['.repeat(levels)}${']'.repeat(levels)}`);
/** The property of the frame or of its params. */
const place = fc.record({ isOfFrame: fc.boolean(), index: fc.nat(12) });

interface Place {
  isOfFrame: boolean;
  index: number;
}

function withWrongValue({ method, params }: Request, { isOfFrame, index }: Place, value: unknown): Write {
  const change = (object: object): object => {
    const entries = Object.entries(object);
    return Object.fromEntries(entries.map((entry, at) => (at === index % entries.length ? [entry[0], value] : entry)));
  };
  return (id) => {
    const isRecord = typeof params === 'object' && params !== null;
    const frame = { type: 'req', id, method, params: !isOfFrame && isRecord ? change(params) : params };
    return { text: JSON.stringify(isOfFrame ? change(frame) : frame) };
  };
}

/** An extra property; also a duplicate key, which needs a change of the text. */
const withMore =
  ({ method, params }: Request, name: string, value: unknown): Write =>
  (id) => {
    const text = JSON.stringify({ type: 'req', id, method, params });
    return { text: `${text.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}` };
  };

/** A random change of a text. */
const tear = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat(6),
  inserted: fc.oneof(
    fc.constant(''),
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.constantFrom('{', '"', '\\', ','),
  ),
});

interface Tear {
  at: number;
  removed: number;
  inserted: string;
}

function torn({ method, params }: Request, tears: readonly Tear[]): Write {
  return (id) => {
    const whole = JSON.stringify({ type: 'req', id, method, params });
    const text = tears.reduce((before, { at, removed, inserted }) => {
      const start = Math.floor(at * before.length);
      return before.slice(0, start) + inserted + before.slice(start + removed);
    }, whole);
    return { text };
  };
}
