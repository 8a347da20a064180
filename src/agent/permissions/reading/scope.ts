interface ScopeValues {
  folder: string | undefined;
  home: string | undefined;
  functions?: ReadonlySet<string>;
  isConditional?: boolean;
  isRealFolder?: boolean;
}

/** What commands at one place of a script inherit. */
export class Scope {
  /** The working directory; undefined if it is uncertain. */
  folder: string | undefined;
  /** The home of the user; undefined if it is uncertain. */
  home: string | undefined;
  /** Functions that are certainly defined here. */
  readonly functions: Set<string>;
  /** Whether the commands run only under a condition, so that they define nothing for certain. */
  isConditional: boolean;
  /** Whether the folder is reached without symbolic links; after `cd` it may not be. */
  isRealFolder: boolean;

  constructor({ folder, home, functions, isConditional = false, isRealFolder = true }: ScopeValues) {
    this.folder = folder;
    this.home = home;
    this.functions = new Set(functions);
    this.isConditional = isConditional;
    this.isRealFolder = isRealFolder;
  }

  /** A copy whose changes end with it, as in a subshell. */
  fork(): Scope {
    return new Scope(this);
  }
}
