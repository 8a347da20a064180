import type { AttachmentFiles } from '../../attachments/attachment-files.ts';

/** Where files of one kind are, by their ids. */
export type FilePlace = Pick<AttachmentFiles, 'open' | 'write' | 'remove'>;

export interface CopiedFile {
  id: string;
  size: number;
}

/** The files of a store: in the home, or in the database. */
export interface FilesOfSide {
  attachments: FilePlace;
  outputs: FilePlace & { list(): Promise<CopiedFile[]> };
}
