/**
 * What the gateway loads at its first use: chat services, push messages, looks at files, the store over PostgreSQL, and what works with other machines. It is one module, because each part
 * that is loaded alone would divide the code of a start into more files.
 */

export { createFilesInFolders } from '../../agent/workspace/files-in-folders.ts';
export { connectNats } from '../../bus/nats-transport.ts';
export { trustIn } from '../channels/chats/trust-in.ts';
export { personalChat } from '../channels/personal-chat.ts';
export { prepareMedia } from '../channels/telegram/outbound/prepare-media.ts';
export { render as renderForTelegram } from '../channels/telegram/outbound/render.ts';
export { replacedPreview } from '../channels/telegram/preview/replaced-preview.ts';
export { createTelegramNoun } from '../channels/telegram/telegram-noun.ts';
export { prepareMessage } from '../channels/whatsapp/outbound/prepare-message.ts';
export { createWhatsAppNoun } from '../channels/whatsapp/whatsapp-noun.ts';
export { createLoadedPush } from '../push/loaded-push.ts';
export { plannedPostgresMigration } from '../store/postgres/inspect-postgres.ts';
export { openCandidate } from '../store/postgres/lease/candidate.ts';
export { openPostgresStore } from '../store/postgres/postgres-store.ts';
export { createLeadOf, createWorkerOf } from '../workers/join-machines.ts';
export { openHub } from '../workers/links/hub.ts';
