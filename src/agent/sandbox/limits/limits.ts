/** What a command may use at once, with everything it starts. */
export interface Limits {
  processes: number;
  memoryBytes: number;
  /** Of one file. */
  fileBytes: number;
}

/** Which limit ended a command, or processes of it. */
export type ExceededLimit = 'processes' | 'memory';

/** How limits are kept on this machine. */
export type LimitWay = 'cgroup v2' | 'cgroup v1' | 'watcher';

/** A command under limits. */
export interface LimitedCommand {
  /** Resolves when the command has to be ended because of a limit; never rejects, and may never resolve. */
  exceeded: Promise<ExceededLimit>;
  /** Call this when all its processes are gone. The limit that ended some of them, if one did. */
  end(): Promise<ExceededLimit | undefined>;
}

/** Limits commands in the best way that this machine has. */
export interface Limiter {
  way: LimitWay;
  limits: Limits;
  /** Call this with the root of a command before it starts anything. */
  begin(pid: number): Promise<LimitedCommand>;
}
