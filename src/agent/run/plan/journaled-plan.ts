/** A plan that was put to a person. */
export interface JournaledPlan {
  /** The call that it was made for. */
  callId: string;
  /** 1 for the first plan, and one more for each revision. */
  round: number;
  content: string;
}
