import type { InboxTable } from '../../../store/schema/channels/channel-schema.ts';
import type { Workstream } from '../../../workstreams/workstream.ts';
import type { ActingSender } from './acting-sender.ts';
import type { IncomingMessage } from './incoming.ts';

/** A message of a person who may write. */
export interface AllowedMessage {
  row: InboxTable;
  message: IncomingMessage;
  by: ActingSender;
  workstream: Workstream;
}
