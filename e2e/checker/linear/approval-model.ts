import type { Interval, SequentialModel } from './find-order.ts';
import type { Recorded } from './history.ts';

/** `unasked`, `pending`, `cancelled`, or the decision with its mark. */
type State = string;

/** What a call means to one approval. */
export type ApprovalOperation = Interval &
  (
    | { kind: 'ask' }
    | { kind: 'decide'; decision: string; answer?: 'won' | 'late' | undefined }
    /** `isNamed`: what is pending is cancelled. Otherwise: perhaps. */
    | { kind: 'cancel'; isNamed: boolean }
    | { kind: 'look'; isPending: boolean }
    | { kind: 'read'; decision: string }
  ) & { of: Recorded };

/** One question: it is decided once, and a cancel decides it, too. */
export const approvalModel: SequentialModel<State, ApprovalOperation> = {
  initial: 'unasked',
  nameOf: (state) => state,
  step(state, operation) {
    const isOpen = state === 'pending' || state === 'unasked';
    switch (operation.kind) {
      case 'ask':
        return [state === 'unasked' ? 'pending' : state];
      case 'decide':
        return afterDecision(state, operation);
      case 'cancel':
        if (operation.isNamed) return state === 'pending' ? [CANCELLED] : [state];
        return isOpen ? [state, CANCELLED] : [state];
      case 'look':
        return only(state, (state === 'pending') === operation.isPending);
      case 'read':
        return only(state, state === operation.decision);
    }
  },
};

const CANCELLED: State = 'cancelled';

const only = (state: State, isPossible: boolean): State[] => (isPossible ? [state] : []);

function afterDecision(
  state: State,
  { decision, answer = 'won' }: { decision: string; answer?: 'won' | 'late' | undefined },
): State[] {
  const isOpen = state === 'pending' || state === 'unasked';
  if (answer === 'late') return only(state, !isOpen && state !== decision);
  if (state === decision) return [state]; // repeated with its key
  return only(decision, state === 'pending');
}

/** What one workstream's calls mean to one of its approvals. */
export function operationsOn(approvalId: string, calls: readonly Recorded[]): ApprovalOperation[] {
  const tellings = calls.filter((call) => call.kind === 'asked' && call.approvalId === approvalId);
  const [firstSeen] = tellings.toSorted((one, other) => (one.toMs ?? 0) - (other.toMs ?? 0));
  return calls.flatMap((of): ApprovalOperation[] => {
    const { fromMs, toMs } = of;
    const times = { fromMs, toMs, of };
    if ('approvalId' in of && of.approvalId !== approvalId) return [];
    switch (of.kind) {
      case 'asked':
        // Asked before it was seen first.
        return of === firstSeen ? [{ ...times, fromMs: 0, kind: 'ask' }] : [];
      case 'decide':
        return [{ ...times, kind: 'decide', decision: decisionOf(of), answer: of.answer }];
      case 'decided':
        return [{ ...times, kind: 'read', decision: of.mark === undefined ? CANCELLED : decisionOf(of) }];
      case 'approvals':
        return [{ ...times, kind: 'look', isPending: of.answer.includes(approvalId) }];
      case 'cancel':
        return cancelOn(approvalId, of);
      default:
        return [];
    }
  });
}

const decisionOf = ({ approved, mark }: { approved: boolean; mark?: string | undefined }): State =>
  `${approved ? 'approved' : 'denied'} by ${mark}`;

/** A receipt without the approval: it was not pending then, but if it is asked a moment later, the cancel still ends it. */
function cancelOn(approvalId: string, of: Recorded & { kind: 'cancel' }): ApprovalOperation[] {
  const { fromMs, toMs, answer } = of;
  const times = { fromMs, toMs, of };
  if (answer?.approvalId === approvalId) {
    // It was pending when the cancel began, and is not at the end; a decision at the same time may have won.
    return [
      { ...times, kind: 'look', isPending: true },
      { ...times, kind: 'cancel', isNamed: true },
    ];
  }
  const perhaps: ApprovalOperation = { ...times, kind: 'cancel', isNamed: false };
  return answer ? [{ ...times, kind: 'look', isPending: false }, perhaps] : [perhaps];
}
