/** Words of somebody else inside a message. */
export interface ForeignText {
  kind: 'forwarded' | 'quoted';
  /** Who wrote them, for people. */
  from: string;
  text: string;
}

/** A file of a message, which is not loaded yet. */
export interface ChatFile {
  /** By which the service finds it. */
  id: string;
  /** `speech` is turned into text, too. */
  kind: 'file' | 'speech';
  /** The sender recorded it in the chat: anybody may speak in other files. */
  isOwnVoice?: true | undefined;
  /** As the sender called it; undefined: it has no name. */
  fileName: string | undefined;
  /** As the service announces it; undefined: it does not say. */
  size: number | undefined;
  /** Of a recording or video; undefined: the service does not say. */
  seconds: number | undefined;
}

/** A message of a chat service as far as Headgate reads it. */
export interface ChatMessage {
  /** As the service calls the chat; with a topic: `<chat>:<topic>`. */
  chat: string;
  /** Without the topic. */
  chatId: string;
  chatKind: 'dm' | 'group';
  chatTitle: string;
  /** The session that the chat gets. */
  sessionKey: string;
  /** The number that the service gave, which never changes hands. */
  senderId: string;
  /** For people only: nothing is decided by it. */
  senderName: string;
  messageId: string;
  /** The sender's own words. */
  text: string;
  foreign: readonly ForeignText[];
  files: readonly ChatFile[];
  /** What else it consists of that nothing here reads, for people: `a poll`. Such a message is refused as a whole. */
  unreadable: string | undefined;
  /** Whether it mentions the bot, replies to it, or is a command for it. Always true in a direct chat. */
  isForBot: boolean;
  command: { name: string; argument: string } | undefined;
}

const MAX_NAME = 64;

/** One readable line without the signs that surround names: they are free texts of strangers. */
export const plainName = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}<>[\]"():]+/gu, ' ')
    .slice(0, MAX_NAME)
    .replaceAll(/\p{Surrogate}/gu, '')
    .trim() || 'unknown';
