import type { Log } from '../../log.ts';

const quiet = () => undefined;

export const silentLog: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
