import { randomIds } from '../../ids.ts';
import type { Target } from '../connect.ts';
import type { ImportAnswer } from '../conversation-files.ts';
import type { PathUpload, Upload } from '../upload.ts';

/** The files of this machine that a chat reads and writes. */
export interface ChatFiles {
  upload: PathUpload;
  uploadFile: Upload;
  /** The bytes of a file of a message. Rejects if the person may not read it. */
  downloadAttachment(wsId: string, attachmentId: string): Promise<Uint8Array>;
  /** The daemon runs on this machine, so the folders of its workstreams are here. */
  isLocal: boolean;
  /** Writes a conversation to a new file; to one that ends in `.md`, as Markdown. */
  exportTo(wsId: string, name: string): Promise<void>;
  /** Makes a new workstream from an exported conversation. */
  importFrom(name: string): Promise<ImportAnswer>;
}

/** What is rarely used is loaded when it is: a chat starts faster without it. */
export function createChatFiles(target: Target, around: { cwd: string }): ChatFiles {
  const loadUpload = () => import('../upload.ts');
  const loadFiles = () => import('../conversation-files.ts');
  return {
    upload: async (...named) => (await loadUpload()).createPathUpload(target, around)(...named),
    uploadFile: async (...added) => (await loadUpload()).createUpload(target)(...added),
    downloadAttachment: async (wsId, attachmentId) => (await loadUpload()).createDownload(target)(wsId, attachmentId),
    isLocal: target.home !== undefined,
    async exportTo(wsId, name) {
      const { createConversationFiles, writeNewFile } = await loadFiles();
      const format = /\.(md|markdown)$/i.test(name) ? 'markdown' : 'json';
      await writeNewFile(name, await createConversationFiles(target).download(wsId, format), around);
    },
    async importFrom(name) {
      const { createConversationFiles, readConversation } = await loadFiles();
      const file = name === '-' ? './-' : name; // stdin belongs to the chat
      return createConversationFiles(target).upload(await readConversation(file, around), randomIds.id('key'));
    },
  };
}
