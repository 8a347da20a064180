/** A question that came up while a call ran. */
export interface JournaledInput {
  callId: string;
  /** Of who asks and what. */
  digest: string;
  /** 0, and one more each time the call went on after answers. */
  round: number;
  /** What the call goes on with after a restart; absent: it has to begin again. */
  resume?: string;
}
