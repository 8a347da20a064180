import type { CronEvidence, CronRule, CronViolation } from './evidence.ts';
import { attemptsMatch, endsMatch, jobsMatch } from './rules/agreement.ts';
import { covered, onePerInstant, onInstants } from './rules/coverage.ts';
import { allOver, reasons } from './rules/ends.ts';
import { inTime, neverTwoAtOnce, oneStart, triedAgainAfterErrors } from './rules/starts.ts';

/** Every rule by the sentence it stands for. Decision 34 says what counts as due. */
export const CRON_RULES = {
  'what was due has a record': covered,
  'no instant has two records': onePerInstant,
  'a record stands at an instant of its job': onInstants,
  'what was due is over': allOver,
  'what did not run says why': reasons,
  'an attempt starts once': oneStart,
  'every start is on record': attemptsMatch,
  'only an error is tried again': triedAgainAfterErrors,
  'a job runs once at a time': neverTwoAtOnce,
  'what can start starts within a minute': inTime,
  'a record ends as the run did': endsMatch,
  'a job says what its ledger says': jobsMatch,
} as const satisfies Record<string, CronRule>;

export type CronRuleName = keyof typeof CRON_RULES;

export const checkCron = (evidence: CronEvidence): CronViolation[] =>
  Object.entries(CRON_RULES).flatMap(([rule, find]) => [...find(evidence)].map((finding) => ({ rule, ...finding })));
