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
}

/**
 * Each workstream's messages and each approval are objects of their own: a history is linearizable if it is for each object
 * (Herlihy and Wing, 1990).
 */
export function unexplained(calls: readonly Recorded[]): Unexplained[] {
  return [...Map.groupBy(calls, ({ wsId }) => wsId)].flatMap(([wsId, history]) => {
    const messages = history.filter(({ kind }) => ABOUT_MESSAGES.has(kind));
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

function toFinding<Operation>(
  place: { wsId: string; what: string },
  search: Search<Operation>,
  toCall: (operation: Operation) => Recorded,
): Unexplained[] {
  if (search.found === true) return [];
  if (search.found === 'undecided') return [{ ...place, lines: ['too many calls at the same time to decide'] }];
  const linesOf = (operations: Operation[]) => operations.map((operation) => describe(toCall(operation)));
  return [{ ...place, lines: [...linesOf(search.reached), 'then none of:', ...linesOf(search.stuck)] }];
}
