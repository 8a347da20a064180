import type { Workstream } from '../../workstreams/workstream.ts';
import type { InboxRow } from '../inbox/inbox-rows.ts';
import type { ActingSender } from './acting-sender.ts';
import type { ChatMessage } from './chat-message.ts';

/** A message of a person who may write. */
export interface AllowedMessage {
  row: InboxRow;
  message: ChatMessage;
  by: ActingSender;
  workstream: Workstream;
}
