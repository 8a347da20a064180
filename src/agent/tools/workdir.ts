import type { HeldFolder } from './files/held-folder.ts';

/** Where a call works. */
export interface Workdir {
  folder: HeldFolder;
  /**
   * Other folders that may be read without approval, because a caller with the approve scope added them to the
   * workstream.
   */
  readable: readonly HeldFolder[];
}

/** The working directory of a workstream, checked at each use. */
export interface WorkdirSource {
  readonly path: string;
  /** Throws GatewayError when another folder lies at the path, or one that must not be a working directory. */
  check(): Promise<Workdir>;
}
