/**
 * How futures are strung together, wherever that is done: knows Vert.x and nothing of Fencepost. No
 * state beyond a call, no I/O, no threads of its own.
 */
package dev.fencepost.flow;
