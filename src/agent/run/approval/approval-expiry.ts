import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import type { Decision } from '../journal.ts';
import { timedOutAfter } from '../result-texts.ts';
import type { UnattendedPolicy } from './unattended-policy.ts';

/** The expiry of approvals: when they expire, and the denial that is recorded then (decision 9). */
export interface ApprovalExpiry {
  /** The expiry of an approval that is requested now. */
  stamp(): number;
  /** Denies the approval when it expires. Returns when the denial is recorded, or when `over` aborts. */
  enforce(question: OpenQuestion, over: AbortSignal): Promise<void>;
}

interface OpenQuestion {
  approvalId: string;
  /** Undefined when no expiry was recorded: the approval then expires at once. */
  expiresAtMs: number | undefined;
  deny(denial: Decision): Promise<void>;
}

interface ExpiryDeps {
  policy: UnattendedPolicy | undefined;
  /** The timeout when the policy has none. */
  usualMs: number;
  clock: Clock;
  log: Log;
}

const RETRY_MS = 1_000;

/** For the approvals of one run. */
export function createApprovalExpiry({ policy, usualMs, clock, log }: ExpiryDeps): ApprovalExpiry {
  const limitMs = approvalMsOf(policy, usualMs);
  const feedback = timedOutAfter(limitMs);
  const denial: Decision = { approved: false, feedback, always: false, by: { kind: 'timeout' } };
  return {
    stamp: () => clock.now() + limitMs,
    async enforce({ approvalId, expiresAtMs, deny }, over) {
      // Timers count only waking time: while a laptop sleeps, no person can answer.
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
          log.warn({ err: error, approvalId }, 'could not expire an approval; retrying');
          leftMs = RETRY_MS;
        }
      }
    },
  };
}

/** The timeout when the policy asks nobody, but an approver happens to be subscribed. */
const ONLOOKER_MS = 5 * 60_000;

/** How many milliseconds an approval may wait. */
function approvalMsOf(policy: UnattendedPolicy | undefined, usualMs: number): number {
  if (policy === undefined) return usualMs;
  return policy.mode === 'wait' ? (policy.timeoutMs ?? usualMs) : Math.min(ONLOOKER_MS, usualMs);
}

interface InterruptedQuestion {
  askedMs: number;
  expiresAtMs: number;
  /** When the previous process was last known to be alive. */
  lastAliveMs: number | undefined;
}

/** The minimum time that an approval gets after a start. */
const MIN_AFTER_RESTART_MS = 10 * 60_000;

/** The expiry of an approval after a restart. The downtime does not count, because nobody could answer. */
export function expiryAfterRestart({ askedMs, expiresAtMs, lastAliveMs }: InterruptedQuestion, nowMs: number): number {
  // Never longer than its original timeout, because the clock may have jumped.
  const sinceMs = Math.max(lastAliveMs ?? askedMs, askedMs);
  return nowMs + Math.max(MIN_AFTER_RESTART_MS, expiresAtMs - sinceMs);
}

/** Whether the timeout denied it. */
export const hasExpired = ({ by }: Decision): boolean => by.kind === 'timeout';
