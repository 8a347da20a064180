import type { ChoosingRule, DecidingEach } from './finer-answer.ts';
import type { Answering } from './typed-answers.ts';

/** What the keys mean at the moment. */
export type Mode =
  | { kind: 'message' }
  /** A remark is being typed, or was typed and waits for y or n. */
  | { kind: 'remark'; approvalId: string; remark: string | undefined }
  /** Waits for a second `y` before auto-approve is switched on. */
  | { kind: 'always'; approvalId: string }
  | ChoosingRule
  | DecidingEach
  | Answering;

/** What the keys mean after this one; undefined if it begins no longer answer. */
export function modeFor(key: string, approvalId: string): Mode | undefined {
  switch (key) {
    case 'f':
      return { kind: 'remark', approvalId, remark: undefined };
    case 'a':
      return { kind: 'always', approvalId };
    case 'r':
      return { kind: 'rule', approvalId };
    case 'w':
      return { kind: 'answer', approvalId, given: {} };
    case 'e':
      return { kind: 'each', approvalId, decided: {} };
    default:
      return undefined;
  }
}
