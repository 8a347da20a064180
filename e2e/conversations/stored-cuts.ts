import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { CutTable } from '../../src/gateway/store/schema/schema.ts';

/** A cut as it is stored. */
export type StoredCut = Pick<CutTable, 'n' | 'kind' | 'after_seq' | 'to_seq' | 'at_seq'>;

/** How far a conversation was cut when a request was sent. */
export interface CutPlace {
  /** The number of the newest cut. */
  cuts: number;
  /** Where its context begins. */
  contextAfter: number;
  /** The number of its newest message. */
  newest: number;
}

/** A conversation as a database has it. */
export interface StoredConversation {
  /** Whether a numbered text was said in it, and not only told of another conversation. Default: all were. */
  owns?(piece: { name: string }): boolean;
  place(): CutPlace;
  cuts(): StoredCut[];
  /** Whether the model's answer to the request that was sent there is stored. */
  isAnswered(place: CutPlace): boolean;
  /** The messages that count, with those behind compactions. */
  messages(): { seq: number; json: string }[];
}

/** Reads a database that a daemon has open, at once, because a server has to answer a request meanwhile. */
export function storedConversation({ dir, wsId }: { dir: string; wsId: string }): StoredConversation {
  const all = (sql: string) => {
    using db = new DatabaseSync(path.join(dir, 'headgate.db'), { readOnly: true });
    return db.prepare(sql).all(wsId);
  };
  // The cast matches the columns.
  const cuts = () =>
    all('select n, kind, after_seq, to_seq, at_seq from cuts where ws_id = ? order by n') as unknown as StoredCut[];
  return {
    cuts,
    place() {
      const [row] = all(
        `select context_after_seq, (select count(*) from cuts c where c.ws_id = w.ws_id) as cuts,
           (select max(seq) from messages m where m.ws_id = w.ws_id) as newest
         from workstreams w where ws_id = ?`,
      );
      return {
        cuts: Number(row?.cuts ?? 0),
        contextAfter: Number(row?.context_after_seq ?? 0),
        newest: Number(row?.newest ?? 0),
      };
    },
    isAnswered({ newest }) {
      const later = all('select seq, body_json from messages where ws_id = ?').filter(
        ({ seq }) => Number(seq) > newest,
      );
      return later.some(({ body_json }) => isAnswer(JSON.parse(String(body_json))));
    },
    messages() {
      const gone = cuts().filter(({ kind }) => !isForModels(kind));
      return all('select seq, body_json from messages where ws_id = ? order by seq')
        .map(({ seq, body_json }) => ({ seq: Number(seq), json: String(body_json) }))
        .filter(({ seq }) => !gone.some(({ after_seq, to_seq }) => seq > after_seq && seq <= to_seq));
    },
  };
}

/** Whether a cut changes only what models read. */
export const isForModels = (kind: StoredCut['kind']): boolean => kind !== 'rewind' && kind !== 'remove';

/** One that is cut off before its first word is sent to no model. */
const isAnswer = ({
  role,
  content,
  toolCalls = [],
}: {
  role: string;
  content?: string;
  toolCalls?: object[];
}): boolean => role === 'assistant' && (content !== '' || toolCalls.length > 0);
