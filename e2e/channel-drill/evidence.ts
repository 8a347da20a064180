import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ChannelPart } from '../../protocol/methods/channels/channel.ts';
import type { AmbiguousPolicy } from '../../src/gateway/channels/chats/chat-settings.ts';
import type { ChatEvidence, Press, Said, Shown } from '../checker/channels/chat-evidence.ts';
import { readDisk } from '../checker/read-disk.ts';

interface Known {
  said: Said[];
  shown: Shown[];
  listed: ChannelPart[];
  mostPolls: number;
  policy: AmbiguousPolicy;
  presses: Press[];
  approvers: string[];
  operator: string[];
}

/** Reads the home of a daemon, which may be running. */
export function readChatEvidence(home: string, known: Known): ChatEvidence {
  using db = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  // The casts match the contents of the columns.
  const all = <T>(sql: string) => db.prepare(sql).all() as T[];
  return {
    ...known,
    disk: readDisk(home),
    inbox: all('select update_id, chat, state, run_id from channel_inbox order by position'),
    chats: all('select chat, ws_id, owes_notice from channel_chats'),
    outbox: all("select * from outbox where provider = 'telegram' order by seq"),
    previews: all("select * from channel_chunks where message_id like 'preview:%'"),
    chunks: all(
      `select channel_chunks.* from channel_chunks join outbox on outbox.message_id = channel_chunks.message_id
       order by outbox.seq, chunk`,
    ),
  };
}

/** What a dead daemon left unfinished. */
export function leftIn(home: string): { inbound: number; outbound: number } {
  using db = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  const count = (sql: string) => Number(db.prepare(sql).get()?.count ?? 0);
  return {
    inbound: count("select count(*) as count from channel_inbox where state = 'waiting'"),
    outbound: count("select count(*) as count from channel_chunks where state = 'sending'"),
  };
}
