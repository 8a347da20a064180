/**
 * What chat services need only once they are set up, and what looks at files for people, in one module: each part that is loaded alone would divide the code of
 * a start into more files.
 */
export { createFilesInFolders } from '../../agent/workspace/files-in-folders.ts';
export { createLoadedPush } from '../push/loaded-push.ts';
export { trustIn } from './chats/trust-in.ts';
export { personalChat } from './personal-chat.ts';
export { prepareMedia } from './telegram/outbound/prepare-media.ts';
export { render as renderForTelegram } from './telegram/outbound/render.ts';
export { replacedPreview } from './telegram/preview/replaced-preview.ts';
export { createTelegramNoun } from './telegram/telegram-noun.ts';
export { prepareMessage } from './whatsapp/outbound/prepare-message.ts';
export { createWhatsAppNoun } from './whatsapp/whatsapp-noun.ts';
