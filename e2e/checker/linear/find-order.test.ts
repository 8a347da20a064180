import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '../random.ts';
import { findOrder, type Interval, type SequentialModel } from './find-order.ts';

type Operation = Interval & { write?: number; read?: number };

/** A place for one number. */
const register: SequentialModel<number, Operation> = {
  initial: 0,
  step(state, { write, read }) {
    if (write !== undefined) return [write];
    return state === read ? [state] : [];
  },
  nameOf: String,
};

/** Up to six calls; a read gets any number, so that about half of the histories are wrong. */
function randomHistory(random: Random): Operation[] {
  return Array.from({ length: random.int(2, 6) }, () => {
    const fromMs = random.int(0, 20);
    const isLost = random.chance(0.2);
    const value = random.int(0, 2);
    return {
      fromMs,
      ...(!isLost && { toMs: fromMs + random.int(1, 12) }),
      ...(isLost || random.chance(0.5) ? { write: value } : { read: value }),
    };
  });
}

/** Tries every order of every set of operations that has all answered ones. */
function existsOrder(operations: readonly Operation[], state = register.initial): boolean {
  if (operations.every(({ toMs }) => toMs === undefined)) return true;
  return operations.some((operation) => {
    const others = operations.filter((other) => other !== operation);
    if (others.some(({ toMs = Number.POSITIVE_INFINITY }) => toMs < operation.fromMs)) return false;
    return register.step(state, operation).some((next) => existsOrder(others, next));
  });
}

test('the search finds an order exactly where trying all orders does', () => {
  const random = createRandom(17);
  const counts = { found: 0, none: 0 };
  for (let round = 0; round < 2_000; round += 1) {
    const history = randomHistory(random);
    const { found } = findOrder(register, history);
    assert.equal(found, existsOrder(history), JSON.stringify(history));
    counts[found ? 'found' : 'none'] += 1;
  }
  assert.ok(counts.found > 500 && counts.none > 500, JSON.stringify(counts));
});

test('the order that is found explains all answers', () => {
  const history: Operation[] = [
    { fromMs: 0, toMs: 9, write: 1 },
    { fromMs: 1, write: 2 },
    { fromMs: 2, toMs: 3, read: 2 },
    { fromMs: 4, toMs: 5, read: 1 },
  ];
  const search = findOrder(register, history);
  assert.deepEqual(search, { found: true, order: [history[1], history[2], history[0], history[3]] });
});
