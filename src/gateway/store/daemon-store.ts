import type { Notice } from '../../../protocol/notice.ts';
import type { StoredOutputs } from '../../agent/outputs/stored-outputs.ts';
import type { AttachmentFiles } from '../attachments/attachment-files.ts';
import type { EventRow } from './checked-rows.ts';
import type { KnownMachine } from './postgres/lease/machines.ts';
import type { KnownPeers } from './postgres/lease/peers.ts';
import type { Statement, Store } from './store.ts';

/** The store as the daemon opens, keeps and closes it. */
export interface DaemonStore extends Store, AsyncDisposable {
  /** Where it is, for people: the path of a file, or the address of a database without a user and password. */
  readonly place: string;
  /** Writes what is queued, marks the stop as clean and closes the database. Later commits are refused. Idempotent. */
  close(): Promise<void>;
  /** Stores that the daemon was running at this time. Not `durable`, a power loss may undo it and marks before it. */
  markAlive(nowMs: number, how?: { durable: boolean }): Promise<void>;
  /** When the previous daemon was last known to be running. */
  readonly lastAliveMs: number | undefined;
  /** Damage found at this start, for people. */
  readonly notices: readonly Notice[];
  /**
   * Removes the events up to and including an offset. Never pass the last one, because it holds the position of the
   * log.
   */
  dropPrefix(wsId: string, through: number): Promise<void>;
  /** Files in the database, for all machines that use it. Absent: they are in the home. */
  readonly files?: DatabaseFiles;
  /** The intact rows of a log as they are stored, for its compaction. Absent: the database compresses long rows itself. */
  readEventRows?(wsId: string, after: number, limit: number): Promise<EventRow[]>;
  /** Absent: no other daemon can use this store. */
  readonly shared?: SharedStore;
}

/** A store that several daemons may use, of which the holder of the lease writes. */
export interface SharedStore {
  /** Rises each time that another daemon takes the lease. */
  readonly epoch: number;
  /** How long ago the lease was renewed last. */
  leaseAgeMs(): number;
  /** The lease was not renewed in time, so another daemon may be active. False while nothing can be known and no other one is there. */
  mayBeReplaced(): boolean;
  readonly peers: KnownPeers;
  /** From now on, nothing waits for a lost connection: the daemon stops. */
  stopWaiting(): void;
  /** Ends the lease of a worker, refused while it is alive: the worker can write nothing more. */
  endWorker(nodeId: string): Statement[];
  /** The node ids of workers whose leases have not ended. */
  liveWorkers(): Promise<ReadonlySet<string>>;
  /** All daemons that are known. */
  machines(): Promise<KnownMachine[]>;
  /** What a process proves itself with; undefined if it is not there. */
  publicKeyOf(process: string): Promise<string | undefined>;
}

export interface DatabaseFiles {
  attachments: AttachmentFiles;
  outputs: StoredOutputs;
}
