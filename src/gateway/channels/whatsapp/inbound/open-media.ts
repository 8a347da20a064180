import { ServiceError } from '../../calls/service-error.ts';
import type { ChatServiceParts } from '../../chats/create-chats.ts';
import type { WhatsAppNumber } from '../numbers.ts';

/** For an answer, and for each piece of a file. */
const FILE_MS = 60_000;

/** Begins to download a file that somebody sent. Throws ServiceError. */
export const openMedia =
  (number: () => WhatsAppNumber | undefined): ChatServiceParts['openFile'] =>
  async ({ id }, { maxBytes, signal }) => {
    const current = number();
    if (!current) throw new ServiceError('unauthorized', 'WhatsApp is not set up.');
    return current.api.openMedia(id, { maxBytes, signal, timeoutMs: FILE_MS });
  };
