const MAX_COMMAND = 2_000;

/** A command in lists and events. It is shortened last, because the beginning of a secret is not recognised as one. */
export function toShownCommand(command: string, clean: (text: string) => string): string {
  const cleaned = clean(command);
  return cleaned.length > MAX_COMMAND ? `${cleaned.slice(0, MAX_COMMAND).toWellFormed()} …` : cleaned;
}
