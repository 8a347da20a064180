const FIRST_MS = 30_000;
/** The longest wait between attempts. A longer remaining wait means that the clock was set back. */
export const MAX_BACKOFF_MS = 3_600_000;
/** Maximum attempts for the single occurrence of an `at` job. */
export const MAX_TRIES = 5;
/** Consecutive errors after which approvers are notified. */
export const ALERT_AFTER = 3;

/** The wait before the same occurrence is retried after its nth failure. */
export const retryDelayMs = (failures: number): number => Math.min(MAX_BACKOFF_MS, FIRST_MS * 2 ** (failures - 1));

/** How long a job is paused after its nth consecutive error. A single error does not pause it. */
export const holdDelayMs = (failures: number): number => (failures < 2 ? 0 : retryDelayMs(failures - 1));
