import type { BackgroundCommand } from '../../../protocol/events/background-command.ts';
import type { ToolMessage } from '../message.ts';
import type { ProcessIdentity } from '../tools/tool.ts';

/** A background command as it is stored. */
export interface StoredCommand {
  wsId: string;
  state: BackgroundCommand;
  taint: ToolMessage['taint'];
  /** The file of its output, in the folder of outputs; undefined: it has printed nothing, or that could not be stored. */
  outputName: string | undefined;
  /** The model knows that it has ended, or will never ask. */
  isTold: boolean;
}

/** Where the states of background commands are stored, and events told. */
export interface BackgroundRecords {
  /** Stored before the command has any effect. Rejects if it cannot be stored. */
  started(command: StoredCommand, process: ProcessIdentity): Promise<void>;
  /** Nothing if the command is not stored. Rejects if it cannot be stored. */
  changed(command: StoredCommand): Promise<void>;
  /** The model has read how it ended. */
  told(commandId: string): Promise<void>;
  /** A new conversation began, which knows none of the commands of the workstream. */
  toldAll(wsId: string): Promise<void>;
  find(wsId: string, commandId: string): Promise<StoredCommand | undefined>;
}
