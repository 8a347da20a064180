import type { Timers } from '../../../protocol/client/timers.ts';
import type { ConnectionStatus, GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Attachment } from '../../../protocol/stream-events.ts';
import type { Here } from '../local-time.ts';
import type { Screen } from '../terminal/screen.ts';
import type { Sheet } from '../terminal/sheet.ts';
import type { ChatFiles } from './chat-files.ts';
import type { ChatTabs } from './tabs/chat-tabs.ts';
import type { Talk } from './talk.ts';

/** What a chat on a terminal needs from outside. */
export interface InteractiveChatDeps {
  client: GatewayClient;
  wsId: string;
  connection(): ConnectionStatus;
  screen: Screen;
  sheet(): Sheet;
  history: readonly string[];
  /** What was typed before and not sent. */
  draft: string;
  /** The home folder of the person. */
  userHome: string;
  /** The shell that runs commands of the person. */
  shell: string;
  tabs: ChatTabs;
  onHistory(lines: readonly string[]): void;
  timers: Timers;
  here(): Here;
  /** Writes to the terminal next to what it shows. */
  writeToTerminal(sequence: string): void;
  newKey(): string;
  files: ChatFiles;
  onOpen(talk: Talk): void;
  /** A message has images. */
  onImages(images: readonly Attachment[], talk: Talk): void;
  /** The person is done. */
  onLeave(): void;
}
