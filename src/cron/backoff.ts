const FIRST_MS = 30_000;
/** No wait between tries is longer: where one seems to be, the clock was set back. */
export const MAX_BACKOFF_MS = 3_600_000;
/** Starts that a single occurrence of an `at` job gets. */
export const MAX_TRIES = 5;
/** Errors in a row from which on somebody is told. */
export const ALERT_AFTER = 3;

/** How long after the nth failure the same occurrence is tried again. */
export const retryDelayMs = (failures: number): number => Math.min(MAX_BACKOFF_MS, FIRST_MS * 2 ** (failures - 1));

/** How long after the nth error in a row a job is left alone; one alone may be chance. */
export const holdDelayMs = (failures: number): number => (failures < 2 ? 0 : retryDelayMs(failures - 1));
