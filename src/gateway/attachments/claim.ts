import type { Attachment } from '../../../protocol/stream-events.ts';
import type { Statement } from '../store/store.ts';

/** Stored files without rows. */
export interface Held {
  attachments: Attachment[];
  /** Call this if the rows were not committed. */
  abandon(): Promise<void>;
  /** Call this once they were. */
  settle(): void;
}

/** Files claimed for one message. */
export interface Claim extends Held {
  /** Requested ids that are not available. */
  dropped: string[];
  /** Requested ids that are pending but whose file is missing or damaged. */
  damaged: string[];
  /** To be committed with the acceptance of the run; refused when another message reserved a file first. */
  statements(runId: string): Statement[];
}
