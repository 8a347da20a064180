/** Whether an error or its cause means that a disk or a quota is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isFull = 'code' in error && FULL.has(error.code);
  const isSqliteFull = 'errcode' in error && error.errcode === SQLITE_FULL;
  return isFull || isSqliteFull || isDiskFull(error.cause);
}

const FULL = new Set<unknown>(['ENOSPC', 'EDQUOT']);
const SQLITE_FULL = 13;
