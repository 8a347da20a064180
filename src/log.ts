/** The lowest level of entries that are written. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Structured logging; pino implements it. Never pass message text, arguments or credentials. */
export interface Log {
  /** False if debug entries are dropped, so that fields that cost something need not be made. */
  readonly isDebugging?: boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
