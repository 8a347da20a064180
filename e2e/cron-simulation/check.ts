import { applyRules } from '../checker/apply-rules.ts';
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
  'every due time has a record': covered,
  'no due time has two records': onePerInstant,
  'every record has a due time of its job': onInstants,
  'every due occurrence has ended': allOver,
  'an occurrence that did not run gives the reason': reasons,
  'a missed occurrence could not have run': reallyMissed,
  'a missed occurrence gives the right reason': toldTruly,
  'a process that lost a claim writes no more': newestWrites,
  'occurrences of a dead process are taken over': takenUp,
  'no claim is taken from a living process': notRobbed,
  'an attempt starts once': oneStart,
  'every start is recorded': attemptsMatch,
  'only errors are retried': triedAgainAfterErrors,
  'a job never runs twice at a time': neverTwoAtOnce,
  'no more jobs run at once than allowed': neverTooMany,
  'a run is stopped at its time limit': stoppedInTime,
  'a failed job waits for its backoff': leftAlone,
  'a startable occurrence starts within a minute': inTime,
  'a record has the result of its run': endsMatch,
  'a job agrees with its ledger': jobsMatch,
} as const satisfies Record<string, CronRule>;

export type CronRuleName = keyof typeof CRON_RULES;

export const checkCron = (evidence: CronEvidence): CronViolation[] => applyRules(CRON_RULES, evidence);
