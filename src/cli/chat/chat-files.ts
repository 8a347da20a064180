import { randomIds } from '../../ids.ts';
import type { Target } from '../connect.ts';
import { createConversationFiles, type ImportAnswer, readConversation, writeNewFile } from '../conversation-files.ts';
import { createPathUpload, createUpload, type PathUpload, type Upload } from '../upload.ts';

/** The files of this machine that a chat reads and writes. */
export interface ChatFiles {
  upload: PathUpload;
  uploadFile: Upload;
  /** The daemon runs on this machine, so the folders of its workstreams are here. */
  isLocal: boolean;
  /** Writes a conversation to a new file; to one that ends in `.md`, as Markdown. */
  exportTo(wsId: string, name: string): Promise<void>;
  /** Makes a new workstream from an exported conversation. */
  importFrom(name: string): Promise<ImportAnswer>;
}

export function createChatFiles(target: Target, around: { cwd: string }): ChatFiles {
  const conversations = createConversationFiles(target);
  return {
    upload: createPathUpload(target, around),
    uploadFile: createUpload(target),
    isLocal: target.home !== undefined,
    async exportTo(wsId, name) {
      const format = /\.(md|markdown)$/i.test(name) ? 'markdown' : 'json';
      await writeNewFile(name, await conversations.download(wsId, format), around);
    },
    async importFrom(name) {
      const file = name === '-' ? './-' : name; // stdin belongs to the chat
      return conversations.upload(await readConversation(file, around), randomIds.id('key'));
    },
  };
}
