import { UsageError } from '../../start-error.ts';

/** What a service runs, and as whom. */
export interface ServicePlan {
  /** The program and its arguments; absolute paths. */
  command: readonly string[];
  home: string;
  /** The user of a service of the machine; undefined for a service of the person. */
  user: string | undefined;
}

/** The service manager of an operating system. */
export interface ServiceManager {
  /** The file that describes the service. */
  file: string;
  /** Its content. */
  toText(plan: ServicePlan): string;
  /** Commands that end a former service, before both. They may fail if `probe` fails then, too: there is none. */
  unload: readonly Command[];
  /** The commands after the file was written. */
  activate: readonly Command[];
  /** The commands before the file is removed, and after that. */
  deactivate: readonly Command[];
  forget: readonly Command[];
  /** Succeeds while the service runs. */
  probe: Command;
  /** What the person may want to do next. */
  hints: readonly string[];
}

/** Throws UsageError for a path that would change other lines of the file. */
export function requirePrintable(texts: readonly string[]): void {
  const wrong = texts.find((text) => /\p{Cc}/u.test(text));
  if (wrong !== undefined)
    throw new UsageError(
      `A service cannot have a line break or another control character in a path: ${JSON.stringify(wrong)}`,
    );
}

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** In the first line of each file that `headgate service install` wrote; others are never replaced or removed. */
export const MARK = 'Written by headgate service install';
