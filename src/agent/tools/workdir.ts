import type { HeldFolder } from './files/held-folder.ts';

/** Where a call works. */
export interface Workdir {
  folder: HeldFolder;
  /** Folders that may be read without a question as well: someone who may approve added them to the workstream. */
  readable: readonly HeldFolder[];
}

/** The working directory of a workstream, judged again each time it is used. */
export interface WorkdirSource {
  readonly path: string;
  /** Throws GatewayError when another folder lies at the path, or one where nobody may work. */
  check(): Promise<Workdir>;
}
