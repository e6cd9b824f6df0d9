// What a supervisor and its workers tell each other over the channel between them.

/** What one worker counted, as its registry gives it. */
export type Readings = readonly object[];

export type ToWorker =
  /** Run the jobs of the node from now on. */
  | { readonly gatehouse: 'keep' }
  /** Something waits that the keeper does. */
  | { readonly gatehouse: 'wake' }
  /** Say to load balancers and clients that the node is about to stop. */
  | { readonly gatehouse: 'drain' }
  /** Finish what is in hand and end. */
  | { readonly gatehouse: 'stop' }
  | { readonly gatehouse: 'read-metrics'; readonly id: number }
  | { readonly gatehouse: 'node-metrics'; readonly id: number; readonly all: readonly Readings[] };

export type FromWorker =
  | { readonly gatehouse: 'ready'; readonly publicUrl: string }
  | { readonly gatehouse: 'wake' }
  | { readonly gatehouse: 'metrics'; readonly id: number; readonly values: Readings }
  /** Asks what all workers counted. */
  | { readonly gatehouse: 'read-node-metrics'; readonly id: number };
