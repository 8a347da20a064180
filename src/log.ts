/** Structured logging as the parts see it; pino fits it as it is. Never pass message text, arguments or credentials. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
