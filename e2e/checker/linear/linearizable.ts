import { type ApprovalOperation, approvalModel, operationsOn } from './approval-model.ts';
import { findOrder, type Search } from './find-order.ts';
import { describe, type Recorded } from './history.ts';
import { queueModel } from './queue-model.ts';

/** A part of a history without an order that explains its answers. */
export interface Unexplained {
  wsId: string;
  /** `messages`, or the approval. */
  what: string;
  /** How far an order goes, and the calls of which none can be next. */
  lines: string[];
  /** Too many calls were under way at once for a search: nothing is known to be wrong. */
  isUndecided?: boolean;
}

/**
 * Each workstream's messages and each approval are objects of their own: a history is linearizable if it is for each object
 * (Herlihy and Wing, 1990).
 */
export function unexplained(calls: readonly Recorded[]): Unexplained[] {
  return [...Map.groupBy(calls, ({ wsId }) => wsId)].flatMap(([wsId, history]) => {
    const messages = withoutNeedless(history.filter(({ kind }) => ABOUT_MESSAGES.has(kind)));
    const ids = new Set(history.flatMap((call) => (call.kind === 'asked' ? [call.approvalId] : [])));
    return [
      ...toFinding({ wsId, what: 'messages' }, findOrder(queueModel, messages), (call) => call),
      ...[...ids].flatMap((id) =>
        toFinding(
          { wsId, what: `approval ${id}` },
          findOrder(approvalModel, operationsOn(id, history)),
          ({ of }: ApprovalOperation) => of,
        ),
      ),
    ];
  });
}

const ABOUT_MESSAGES: ReadonlySet<Recorded['kind']> = new Set(['send', 'cancel', 'queue', 'history']);

/**
 * Each call without an answer doubles the orders to look at. These make no difference: further sends of the same message, and
 * a message that no answer shows and no cancel counted.
 */
function withoutNeedless(messages: readonly Recorded[]): Recorded[] {
  const seen = new Set(messages.flatMap(shownBy));
  const lastDropMs = Math.max(
    0,
    ...messages.map((call) => (call.kind === 'cancel' && call.answer?.dropped !== 0 ? (call.toMs ?? 0) : 0)),
  );
  const first = new Map<string, Recorded>();
  for (const call of messages.toSorted((one, other) => one.fromMs - other.fromMs)) {
    if (call.kind === 'send' && !call.answer && !first.has(call.text)) first.set(call.text, call);
  }
  return messages.filter(
    (call) =>
      call.kind !== 'send' ||
      call.answer !== undefined ||
      (first.get(call.text) === call && (seen.has(call.text) || lastDropMs > call.fromMs)),
  );
}

function shownBy(call: Recorded): string[] {
  if (call.kind === 'send') return call.answer ? [call.text] : [];
  return call.kind === 'queue' || call.kind === 'history' ? call.answer : [];
}

function toFinding<Operation>(
  place: { wsId: string; what: string },
  search: Search<Operation>,
  toCall: (operation: Operation) => Recorded,
): Unexplained[] {
  if (search.found === true) return [];
  if (search.found === 'undecided')
    return [{ ...place, lines: ['too many calls at the same time to decide'], isUndecided: true }];
  const linesOf = (operations: Operation[]) => operations.map((operation) => describe(toCall(operation)));
  return [{ ...place, lines: [...linesOf(search.reached), 'then none of:', ...linesOf(search.stuck)] }];
}
