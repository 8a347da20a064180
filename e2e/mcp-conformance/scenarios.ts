/** The client scenarios of the protocol's makers that are not drafts, without those about accounts. */
export const CORE = ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'] as const;
