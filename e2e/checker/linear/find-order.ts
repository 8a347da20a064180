/** A call as its client saw it, with times of one monotonic clock. */
export interface Interval {
  fromMs: number;
  /** Missing if the answer was lost: then the call took effect at any time after `fromMs`, or never. */
  toMs?: number | undefined;
}

/** What an object does when calls take effect one after the other. */
export interface SequentialModel<State, Operation> {
  initial: State;
  /**
   * The states in which the object may be after the operation: several if it may do something by itself, none if the answer is
   * not possible in this state.
   */
  step(state: State, operation: Operation): State[];
  /** The same text for equal states. */
  nameOf(state: State): string;
}

export type Search<Operation> =
  | { found: true; order: Operation[] }
  /** `reached`: the longest order of a part of the operations; none of `stuck` can be next. */
  | { found: false; reached: Operation[]; stuck: Operation[] }
  | { found: 'undecided' };

interface Place<State, Operation> {
  state: State;
  /** One bit for each operation that has taken effect. */
  done: bigint;
  /** How many of the answered operations have. */
  answered: number;
  last?: { operation: Operation; before: Place<State, Operation> };
}

/** More are not searched; a history that needs more has too many calls at the same time. */
const MOST_PLACES = 2_000_000;

/**
 * Looks for an order in which the operations could have taken effect, each between its call and its answer (Wing and Gong,
 * "Testing and Verifying Concurrent Objects", 1993). A set of operations that led to a state is searched once (Lowe, "Testing for
 * Linearizability", 2017).
 */
export function findOrder<State, Operation extends Interval>(
  model: SequentialModel<State, Operation>,
  operations: readonly Operation[],
): Search<Operation> {
  const sorted = operations.toSorted((one, other) => endOf(other) - endOf(one));
  const wanted = sorted.filter(({ toMs }) => toMs !== undefined).length;
  const start: Place<State, Operation> = { state: model.initial, done: 0n, answered: 0 };
  const open = [start];
  const seen = new Set<string>();
  const isNew = ({ done, state }: Place<State, Operation>): boolean => {
    const { size } = seen;
    return seen.add(`${done.toString(36)} ${model.nameOf(state)}`).size > size;
  };
  let farthest = start;
  for (let place = open.pop(); place; place = open.pop()) {
    if (place.answered === wanted) return { found: true, order: orderOf(place) };
    if (place.answered > farthest.answered) farthest = place;
    if (seen.size > MOST_PLACES) return { found: 'undecided' };
    open.push(...placesAfter(model, sorted, place).filter(isNew));
  }
  const { done } = farthest;
  return { found: false, reached: orderOf(farthest), stuck: candidates(sorted, done).map(([operation]) => operation) };
}

const endOf = ({ toMs = Number.POSITIVE_INFINITY }: Interval): number => toMs;

/** The operations that may be next, the one that was answered first at the end: it is tried first. */
function candidates<Operation extends Interval>(sorted: readonly Operation[], done: bigint): [Operation, bigint][] {
  const left = sorted.flatMap((operation, index): [Operation, bigint][] => {
    const bit = 1n << BigInt(index);
    return (done & bit) === 0n ? [[operation, bit]] : [];
  });
  const firstEnd = Math.min(...left.map(([operation]) => endOf(operation)));
  return left.filter(([{ fromMs }]) => fromMs <= firstEnd);
}

function placesAfter<State, Operation extends Interval>(
  model: SequentialModel<State, Operation>,
  sorted: readonly Operation[],
  place: Place<State, Operation>,
): Place<State, Operation>[] {
  return candidates(sorted, place.done).flatMap(([operation, bit]) =>
    model.step(place.state, operation).map((state) => ({
      state,
      done: place.done | bit,
      answered: place.answered + (operation.toMs === undefined ? 0 : 1),
      last: { operation, before: place },
    })),
  );
}

function orderOf<State, Operation>(place: Place<State, Operation>): Operation[] {
  const order: Operation[] = [];
  for (let { last } = place; last; last = last.before.last) order.push(last.operation);
  return order.reverse();
}
