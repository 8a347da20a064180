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

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** In the first line of each file that `headgate service install` wrote; others are never replaced or removed. */
export const MARK = 'Written by headgate service install';
