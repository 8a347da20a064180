import type { CronEvidence, CronRule, CronViolation } from './evidence.ts';
import { attemptsMatch, endsMatch, jobsMatch } from './rules/agreement.ts';
import { newestWrites, notRobbed, takenUp } from './rules/claims.ts';
import { covered, onePerInstant, onInstants } from './rules/coverage.ts';
import { allOver, reasons } from './rules/ends.ts';
import { leftAlone, neverTooMany, stoppedInTime } from './rules/limits.ts';
import { reallyMissed } from './rules/missed.ts';
import { inTime, neverTwoAtOnce, oneStart, triedAgainAfterErrors } from './rules/starts.ts';
import { toldTruly } from './rules/told.ts';

/** Every rule by the sentence it stands for. Decision 34 says what counts as due. */
export const CRON_RULES = {
  'what was due has a record': covered,
  'no instant has two records': onePerInstant,
  'a record stands at an instant of its job': onInstants,
  'what was due is over': allOver,
  'what did not run says why': reasons,
  'what was missed could not have run': reallyMissed,
  'what was missed says what kept it': toldTruly,
  'who has lost a claim writes no more': newestWrites,
  'what a process left is taken up': takenUp,
  'what a process has is not taken from it': notRobbed,
  'an attempt starts once': oneStart,
  'every start is on record': attemptsMatch,
  'only an error is tried again': triedAgainAfterErrors,
  'a job runs once at a time': neverTwoAtOnce,
  'no more run at once than may': neverTooMany,
  'a run is stopped when its time is over': stoppedInTime,
  'a job that fails is left alone for a while': leftAlone,
  'what can start starts within a minute': inTime,
  'a record ends as the run did': endsMatch,
  'a job says what its ledger says': jobsMatch,
} as const satisfies Record<string, CronRule>;

export type CronRuleName = keyof typeof CRON_RULES;

export const checkCron = (evidence: CronEvidence): CronViolation[] =>
  Object.entries(CRON_RULES).flatMap(([rule, find]) => [...find(evidence)].map((finding) => ({ rule, ...finding })));
