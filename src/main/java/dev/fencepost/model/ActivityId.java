package dev.fencepost.model;

/** The identity of an activity: one consumer's work on one business event. */
public record ActivityId(String consumer, String eventId) {}
