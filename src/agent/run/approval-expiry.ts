import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { ApprovalPolicy } from './approval-policy.ts';
import type { Decision } from './journal.ts';
import { timedOutAfter } from './result-texts.ts';

/** The end of a question that nobody answers: when it comes, who waits for it, and what is decided then (decision 9). */
export interface ApprovalExpiry {
  /** When a question that is asked now ends. */
  stamp(): number;
  /** Denies the question at its end. Returns when that is on record, or when `over` aborts. */
  enforce(question: OpenQuestion, over: AbortSignal): Promise<void>;
}

interface OpenQuestion {
  approvalId: string;
  /** Undefined when its end is not on record: then it ends at once. */
  expiresAtMs: number | undefined;
  deny(denial: Decision): Promise<void>;
}

interface ExpiryDeps {
  policy: ApprovalPolicy | undefined;
  /** Where the policy says nothing of it. */
  usualMs: number;
  clock: Clock;
  log: Log;
}

const RETRY_MS = 1_000;

/** For the questions of one run. */
export function createApprovalExpiry({ policy, usualMs, clock, log }: ExpiryDeps): ApprovalExpiry {
  const limitMs = approvalMsOf(policy, usualMs);
  const feedback = timedOutAfter(limitMs);
  const denial: Decision = { approved: false, feedback, always: false, by: { kind: 'timeout' } };
  return {
    stamp: () => clock.now() + limitMs,
    async enforce({ approvalId, expiresAtMs, deny }, over) {
      // Timers count waking time only: an hour of a sleeping laptop is no hour in which a person could have answered.
      let leftMs = Math.max(0, (expiresAtMs ?? 0) - clock.now());
      for (;;) {
        try {
          await clock.sleep(leftMs, over);
        } catch {
          return; // decided or stopped in time
        }
        try {
          return await deny(denial);
        } catch (error) {
          log.warn({ err: error, approvalId }, 'an approval could not be expired; trying again');
          leftMs = RETRY_MS;
        }
      }
    },
  };
}

/** How long a question waits where the policy asks nobody, but somebody happens to look on. */
const ONLOOKER_MS = 5 * 60_000;

/** Milliseconds a question may wait. */
function approvalMsOf(policy: ApprovalPolicy | undefined, usualMs: number): number {
  if (policy === undefined) return usualMs;
  return policy.mode === 'wait' ? (policy.timeoutMs ?? usualMs) : Math.min(ONLOOKER_MS, usualMs);
}

interface InterruptedQuestion {
  askedMs: number;
  expiresAtMs: number;
  /** When the last process was surely alive. */
  lastAliveMs: number | undefined;
}

/** A question keeps at least this much time after a start. */
const MIN_AFTER_RESTART_MS = 10 * 60_000;

/** The end of a question after a restart: it does not age while nobody could answer. */
export function expiryAfterRestart({ askedMs, expiresAtMs, lastAliveMs }: InterruptedQuestion, nowMs: number): number {
  // Never longer than it was given: the clock may have jumped meanwhile.
  const sinceMs = Math.max(lastAliveMs ?? askedMs, askedMs);
  return nowMs + Math.max(MIN_AFTER_RESTART_MS, expiresAtMs - sinceMs);
}

/** Nobody decided: the time did. */
export const hasExpired = ({ by }: Decision): boolean => by.kind === 'timeout';
