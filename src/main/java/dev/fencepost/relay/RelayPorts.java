package dev.fencepost.relay;

/** What the relay needs of the world. */
public record RelayPorts(
    OutboxStore outbox,
    LaneStore lanes,
    ParkedRows parked,
    Publisher publisher,
    RelayEvents events) {}
